/* Blender's studio light, as its Workbench shades by it: four soft lights that come with the viewer, each with a wrap
 * that lets it reach round, a colour for what is rough and one for what shines. */
/* One over a number, wrong by up to 7 %, as Workbench has it: one would see the difference (Drobot 2014, Low Level
 * Optimizations for GCN). */
vec4 near_reciprocal(vec4 of)
{
  return intBitsToFloat(ivec4(0x7eef370b) - floatBitsToInt(of));
}

vec4 wrapped(vec4 facing, vec4 wrap)
{
  vec4 more = wrap + 1.0;
  return clamp((facing + wrap) * near_reciprocal(more * more), 0.0, 1.0);
}

vec3 light_direction(int light)
{
  return view.lights[3 * light].xyz;
}

vec4 along_lights(vec3 direction)
{
  return vec4(dot(light_direction(0), direction), dot(light_direction(1), direction),
              dot(light_direction(2), direction), dot(light_direction(3), direction));
}

vec3 sum_of_lights(int part, vec4 shares)
{
  return shares.x * view.lights[part].rgb + shares.y * view.lights[3 + part].rgb +
         shares.z * view.lights[6 + part].rgb + shares.w * view.lights[9 + part].rgb;
}

/* Blinn's highlight of one light. */
vec4 highlights(vec3 n, vec3 to_viewer, vec4 shininess)
{
  vec4 angles = vec4(dot(normalize(light_direction(0) + to_viewer), n), dot(normalize(light_direction(1) + to_viewer), n),
                     dot(normalize(light_direction(2) + to_viewer), n), dot(normalize(light_direction(3) + to_viewer), n));
  return pow(clamp(angles, 0.0, 1.0), shininess) * clamp(along_lights(n), 0.0, 1.0) * (shininess * 0.125 + 1.0);
}

/* What metal mirrors besides the lamps, which alone would leave it black: a bright sky, a darker ground, and between
 * them a horizon as blurred as the surface is rough. */
const float WITH_SURROUNDINGS = 2.0;
const vec3 SKY_MIRRORED = vec3(0.52, 0.55, 0.60);
const vec3 GROUND_MIRRORED = vec3(0.16, 0.15, 0.14);
const float SHARPEST_HORIZON = 0.12;

vec3 surroundings(vec3 direction, float roughness)
{
  vec3 up = view.view_from_world[2].xyz;
  float blur = mix(SHARPEST_HORIZON, 1.0, roughness);
  return mix(GROUND_MIRRORED, SKY_MIRRORED, smoothstep(-blur, blur, dot(direction, up)));
}

vec3 studio_light(vec3 base_colour, float metallic, float roughness_of_material, vec3 n, vec3 to_viewer)
{
  float roughness = sqrt(roughness_of_material);
  bool shines = view.ambient.w >= 1.0;
  vec4 wrap = vec4(view.lights[0].w, view.lights[3].w, view.lights[6].w, view.lights[9].w);
  vec3 diffuse = view.tone.y * (view.ambient.rgb + sum_of_lights(1, wrapped(along_lights(n), wrap)));
  if (!shines) {
    return diffuse * base_colour;
  }
  vec3 rough_colour = mix(base_colour, vec3(0.0), metallic);
  vec3 mirror_colour = mix(vec3(0.05), base_colour, metallic);
  vec4 shininess = exp2(10.0 * (1.0 - roughness) * (1.0 - wrap) + 1.0);
  vec4 sharp = highlights(n, to_viewer, shininess);
  vec4 around = wrapped(along_lights(-reflect(to_viewer, n)), mix(wrap, vec4(1.0), roughness));
  vec3 specular = view.tone.y * (view.ambient.rgb + sum_of_lights(2, mix(sharp, around, wrap * wrap)));
  if (view.ambient.w == WITH_SURROUNDINGS) {
    specular += metallic * surroundings(reflect(-to_viewer, n), roughness);
  }
  float rim = exp2(-8.35 * clamp(dot(n, to_viewer), 0.0, 1.0)) * (1.0 - roughness);
  mirror_colour = mix(mirror_colour, vec3(1.0), rim);
  return diffuse * rough_colour * (1.0 - dot(mirror_colour, vec3(1.0 / 3.0))) + specular * mirror_colour;
}
