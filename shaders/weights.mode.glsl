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

/* How strongly the skin follows the active bone. */
vec3 weights_colour(vec3 n)
{
  return heat_colour(heat);
}
