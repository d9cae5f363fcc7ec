/* Diffuse light that comes with the viewer: a key from the upper left, sky from above, and a dark edge that
 * lifts the figure from its background. Colours are linear throughout. */
const vec3 KEY_DIRECTION = vec3(-0.37, 0.56, 0.74);
const vec3 SKY = vec3(0.34, 0.36, 0.40);
const vec3 GROUND = vec3(0.16, 0.145, 0.13);
const float KEY = 0.72;

vec3 encoded(vec3 linear)
{
  vec3 low = linear * 12.92;
  vec3 high = 1.055 * pow(max(linear, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055;
  return mix(high, low, vec3(lessThan(linear, vec3(0.0031308))));
}

void main()
{
  /* In a perspective the viewer sits at the origin; in a parallel view, far along z. */
  bool perspective = drawing.clip_from_view[2][3] != 0.0;
  vec3 to_viewer = perspective ? normalize(-view_position) : vec3(0.0, 0.0, 1.0);
  /* By the side of the triangle, not by the smooth normal, which turns away too early at the silhouette. */
  bool is_front = gl_FrontFacing == (drawing.choice.w == 0);
  vec3 n = normalize(is_front ? view_normal : -view_normal);
  float facing = max(dot(n, to_viewer), 0.0);
  float key = max(dot(n, KEY_DIRECTION), 0.0);
  vec3 light = mix(GROUND, SKY, n.y * 0.5 + 0.5) + vec3(KEY * key);
  float edge = 1.0 - 0.45 * pow(1.0 - facing, 3.0);
  vec3 shade = base_colour * light * edge;
  colour = vec4((drawing.choice.z == 1) ? encoded(shade) : shade, 1.0);
}
