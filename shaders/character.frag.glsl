/* Surfaces are lit by Blender's studio light (studio.glsl). Diagrams (zones.mode.glsl), and ghosts, have a light of
 * their own, which keeps colours apart: it comes with the viewer, a key from the upper left, sky from above, and a dark
 * edge that lifts the figure from its background. Colours are linear throughout. */
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

vec4 finished(vec3 linear, float alpha)
{
  return vec4((view.size.z == 1.0) ? encoded(linear) : linear, alpha);
}

/* What can be seen through is dense at its rim. A ghost is also thin where one looks straight at it, so that it does
 * not hide whom it haunts. */
const float RIM = 1.9;
const float GHOST_MIDDLE = 0.3;
/* What is interpolated between ones is not quite one. */
const float OPAQUE = 0.999;
const float LEAST_ALPHA = 0.004;

/* Colour and alpha of a surface in its material. */
vec4 surface_colour(vec3 n, vec3 to_viewer)
{
  vec4 counts = material_row(header);
  vec4 second = material_row(header + 1);
  int begin = int(second.x + 0.5);
  ivec4 steps = ivec4(counts + 0.5);
  vec4 numbers = material_row(header + 3);
  vec4 base_colour = (steps.x > 0) ? outcome(header, begin, steps.x) : material_row(header + 2);
  begin += 2 * steps.x;
  float alpha = clamp((steps.y > 0) ? outcome(header, begin, steps.y).x : numbers.x, 0.0, 1.0);
  begin += 2 * steps.y;
  float metallic = clamp((steps.z > 0) ? outcome(header, begin, steps.z).x : numbers.y, 0.0, 1.0);
  begin += 2 * steps.z;
  float roughness = clamp((steps.w > 0) ? outcome(header, begin, steps.w).x : numbers.z, 0.0, 1.0);
  begin += 2 * steps.w;
  int glowing = int(numbers.w + 0.5);
  vec3 glow = (glowing > 0) ? max(outcome(header, begin, glowing).rgb, vec3(0.0)) : vec3(0.0);
  vec3 lit = studio_light(max(base_colour.rgb, vec3(0.0)), metallic, roughness, bent_normal(header, n), to_viewer);
  bool is_solid = alpha >= second.w;
  if ((drawing.z == ALPHA_SOLID && !is_solid) || (drawing.z == ALPHA_REST && (is_solid || alpha < LEAST_ALPHA))) {
    discard;
  }
  vec3 shown = toned((lit + glow) * view.tone.z);
  return vec4(shown, (drawing.z == ALPHA_SOLID) ? 1.0 : alpha);
}

void main()
{
  if (drawing.y == PASS_DEPTH || drawing.y == PASS_SHIELD) {
    colour = vec4(0.0);
    return;
  }
  if (drawing.y == PASS_SHADOW) {
    colour = vec4(view_position.z, 0.0, 0.0, 1.0);
    return;
  }
  float alpha = base.a * opacity;
  if (drawing.y == PASS_OUTLINE || drawing.y == PASS_WIREFRAME) {
    colour = finished(base.rgb, alpha);
    return;
  }
  /* In a perspective the viewer sits at the origin; in a parallel view, far along z. */
  bool perspective = view.clip_from_view[2][3] != 0.0;
  vec3 to_viewer = perspective ? normalize(-view_position) : vec3(0.0, 0.0, 1.0);
  /* By the side of the triangle, not by the smooth normal, which turns away too early at the silhouette. */
  bool is_front = gl_FrontFacing == (handedness > 0.0);
  vec3 n = normalize(is_front ? view_normal : -view_normal);
  float facing = max(dot(n, to_viewer), 0.0);
  float middle = (base.a < OPAQUE) ? GHOST_MIDDLE : 1.0;
  alpha *= (alpha < OPAQUE) ? mix(middle, RIM, pow(1.0 - facing, 2.0)) : 1.0;
  if (header >= 0) {
    vec4 surface = surface_colour(n, to_viewer);
    colour = finished(surface.rgb, min(alpha, 1.0) * surface.a);
    return;
  }
  float key = max(dot(n, KEY_DIRECTION), 0.0);
  vec3 light = mix(GROUND, SKY, n.y * 0.5 + 0.5) + vec3(KEY * key);
  float edge = 1.0 - 0.45 * pow(1.0 - facing, 3.0);
  colour = finished(COLOUR_BY_PASS * light * edge, min(alpha, 1.0));
}
