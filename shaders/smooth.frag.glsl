/* The mean of the pixels that a pixel covers, with the nearest of their depths. Outlines have none of their own: they
 * take that of the figure beside them. */
const float NO_DEPTH = 1.0;
const int AROUND = 12;
const int RINGS = 3;
const float RING_PX = 1.7;

float depth_at(ivec2 texel)
{
  return texelFetch(fine_depth, clamp(texel, ivec2(0), textureSize(fine_depth, 0) - 1), 0).r;
}

float depth_around(ivec2 first)
{
  float nearest = NO_DEPTH;
  for (int number = 0; number < AROUND; number++) {
    float turn = 6.2831853 * float(number) / float(AROUND);
    for (int ring = 1; ring <= RINGS; ring++) {
      vec2 away = float(ring) * RING_PX * vec2(cos(turn), sin(turn));
      nearest = min(nearest, depth_at(first + ivec2(round(away))));
    }
  }
  return nearest;
}

void main()
{
  ivec2 first = ivec2(gl_FragCoord.xy) * OVERSAMPLING;
  vec4 sum = vec4(0.0);
  float depth = NO_DEPTH;
  for (int y = 0; y < OVERSAMPLING; y++) {
    for (int x = 0; x < OVERSAMPLING; x++) {
      ivec2 texel = first + ivec2(x, y);
      sum += texelFetch(fine, texel, 0);
      depth = min(depth, depth_at(texel));
    }
  }
  if (sum.a == 0.0) {
    discard;
  }
  gl_FragDepth = (depth == NO_DEPTH) ? depth_around(first) : depth;
  colour = vec4(sum.rgb / sum.a, sum.a / float(OVERSAMPLING * OVERSAMPLING));
}
