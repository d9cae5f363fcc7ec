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

/* From nothing to all: dark blue over grey to yellow, by lightness too, so that the colour-blind read it as well
 * (after cividis, Nuñez, Anderton and Renslow 2018); linear. */
const vec3 HEAT_NONE = vec3(0.025, 0.03, 0.05);
const vec3 HEAT_SOME = vec3(0.03, 0.08, 0.28);
const vec3 HEAT_HALF = vec3(0.25, 0.24, 0.22);
const vec3 HEAT_ALL = vec3(1.0, 0.78, 0.06);

vec3 heat_colour(float weight)
{
  vec3 low = mix(HEAT_NONE, HEAT_SOME, smoothstep(0.0, 0.05, weight));
  return (weight < 0.5) ? mix(low, HEAT_HALF, weight * 2.0) : mix(HEAT_HALF, HEAT_ALL, weight * 2.0 - 1.0);
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

void main()
{
  float alpha = base.a * opacity;
  if (drawing.y == PICTURE_OUTLINE || drawing.y == PICTURE_WIREFRAME) {
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
  float key = max(dot(n, KEY_DIRECTION), 0.0);
  vec3 light = mix(GROUND, SKY, n.y * 0.5 + 0.5) + vec3(KEY * key);
  float edge = 1.0 - 0.45 * pow(1.0 - facing, 3.0);
  vec3 surface_colour = (drawing.y == PICTURE_WEIGHTS) ? heat_colour(heat) : base.rgb;
  colour = finished(surface_colour * light * edge, min(alpha, 1.0));
}
