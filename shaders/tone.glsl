/* View transforms as Blender has them, after core/shading/tone.py, whose numbers these are. */
const mat3 INTO_AGX = mat3(0.55637, 0.13268, 0.10211, 0.33204, 0.72366, 0.20513, 0.11159, 0.14366, 0.69276);
const mat3 OUT_OF_AGX = mat3(1.95754, -0.28377, -0.21997, -0.76522, 1.39347, -0.34443, -0.19231, -0.10971, 1.5644);
const float LEAST_LIGHT = 1e-10;
const float NEUTRAL_BEGIN = 0.76;
const float NEUTRAL_FADE = 0.15;
const float NEUTRAL_FLOOR = 0.04;

vec3 stops_above(vec3 light, float lowest, float highest)
{
  return clamp((log2(max(light, vec3(LEAST_LIGHT))) - lowest) / (highest - lowest), 0.0, 1.0);
}

vec3 agx(vec3 light)
{
  vec3 x = stops_above(INTO_AGX * light, -12.0, 4.0);
  vec3 y = (((((33.0349 * x - 91.5834) * x + 88.3719) * x - 34.777) * x + 6.02118) * x - 0.0412748) * x - 0.0105033;
  return OUT_OF_AGX * pow(clamp(y, 0.0, 1.0), vec3(2.39099));
}

vec3 filmic(vec3 light)
{
  vec3 x = stops_above(light, -10.0, 6.5);
  vec3 y = (((((16.977 * x - 26.147) * x + 0.82437) * x + 11.432) * x - 2.2883) * x + 0.4564) * x + 0.010467;
  y = clamp(y, 0.0, 1.0);
  return mix(pow((y + 0.055) / 1.055, vec3(2.4)), y / 12.92, vec3(lessThanEqual(y, vec3(0.04045))));
}

vec3 neutral(vec3 light)
{
  float least = min(min(light.r, light.g), light.b);
  light -= (least < 2.0 * NEUTRAL_FLOOR) ? least - 6.25 * least * least : NEUTRAL_FLOOR;
  float peak = max(max(light.r, light.g), light.b);
  if (peak < NEUTRAL_BEGIN) {
    return light;
  }
  float rest = 1.0 - NEUTRAL_BEGIN;
  float new_peak = 1.0 - rest * rest / (peak + rest - NEUTRAL_BEGIN);
  return mix(light * new_peak / peak, vec3(new_peak), 1.0 - 1.0 / (NEUTRAL_FADE * (peak - new_peak) + 1.0));
}

/* The colours of a screen, linear, for light. */
vec3 toned(vec3 light)
{
  int tone = int(view.tone.x + 0.5);
  vec3 shown = (tone == TONE_AGX)     ? agx(light) :
               (tone == TONE_FILMIC)  ? filmic(light) :
               (tone == TONE_NEUTRAL) ? neutral(light) :
                                        light;
  return clamp(shown, 0.0, 1.0);
}
