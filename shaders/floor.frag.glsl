/* A floor of tiles that fades into the backdrop, with the shadow on it. middle: the middle of the shadow's picture, at
 * the height of the floor, then the characters' scale; shadow_reach: half the width of the shadow's picture. */
const vec3 BACKDROP = vec3(0.86, 0.88, 0.91);
const vec3 TILE = vec3(0.70, 0.73, 0.78);
const vec3 OTHER_TILE = vec3(0.65, 0.68, 0.74);
const float TILE_M = 0.5;
const float FOG_M = 9.0;

/* The mean of what lies around, which takes the grain out of the shadow. */
float shadow_at(vec2 at)
{
  vec2 step = 1.2 / vec2(textureSize(shadow, 0));
  float sum = 0.0;
  for (int y = -1; y <= 1; y++) {
    for (int x = -1; x <= 1; x++) {
      sum += texture(shadow, at + vec2(ivec2(x, y)) * step).r;
    }
  }
  return sum / 9.0;
}

void main()
{
  vec4 near = world_from_clip * vec4(in_clip, -1.0, 1.0);
  vec4 far = world_from_clip * vec4(in_clip, 1.0, 1.0);
  vec3 eye = near.xyz / near.w;
  vec3 ray = far.xyz / far.w - eye;
  float along = (middle.z - eye.z) / ray.z;
  vec2 at = eye.xy + along * ray.xy - middle.xy;
  /* Tiles keep their edges sharp, and become one colour where they are smaller than a pixel. */
  vec2 tiles = (at + middle.xy) / (TILE_M * middle.w);
  vec2 wide = max(fwidth(tiles), vec2(1e-5));
  vec2 wave = abs(fract(tiles * 0.5) * 2.0 - 1.0) * 2.0 - 1.0;
  vec2 edge = clamp(wave / (2.0 * wide), -1.0, 1.0) * clamp(0.7 / wide, 0.0, 1.0);
  vec3 floor_colour = mix(TILE, OTHER_TILE, 0.5 + 0.5 * edge.x * edge.y);
  vec2 in_shadow = at / shadow_reach.x * 0.5 + 0.5;
  bool is_inside = all(greaterThan(in_shadow, vec2(0.0))) && all(lessThan(in_shadow, vec2(1.0)));
  floor_colour *= is_inside ? 1.0 - shadow_at(in_shadow) : 1.0;
  float fog = clamp(length(at) / (FOG_M * middle.w), 0.0, 1.0);
  bool is_floor = along > 0.0 && along < 1.0;
  colour = vec4(is_floor ? mix(floor_colour, BACKDROP, smoothstep(0.0, 1.0, fog)) : BACKDROP, 1.0);
}
