/* Materials: small programmes in postfix order over a stack of colours, each an operation of core/shading/material.py.
 *
 * The texture `materials` holds them, row after row as preview/materials.py lays them out. The header of a material:
 * how many steps its programmes for colour, alpha, metallic and roughness have, 0 for constants; the row where they
 * begin, the texture of normals or -1, how much it bends them, the alpha below which a surface is not opaque; the
 * constant colour; constant alpha, metallic and roughness, and how many steps emission has, which come last; then for
 * each of MAX_TEXTURES two rows: the matrix that takes UV to the image, the first ending in which UV map it takes, the
 * second in how it is read. A step has two rows: operation, which; its constants.
 * The constants of RAMP are the row where its colours begin, and how many there are. */

const int EXTEND = 1;
const int CLIP = 2;
const int MIRROR = 3;

vec4 material_row(int number)
{
  return texelFetch(materials, ivec2(number % ROWS_WIDTH, number / ROWS_WIDTH), 0);
}

vec4 read_image(int which, vec2 at, bool is_smooth)
{
  ivec2 size = (which == 0)   ? textureSize(image_0, 0) :
               (which == 1)   ? textureSize(image_1, 0) :
               (which == 2)   ? textureSize(image_2, 0) :
                                textureSize(image_3, 0);
  ivec2 texel = ivec2(floor(fract(at) * vec2(size)));
  if (which == 0) {
    return is_smooth ? texture(image_0, at) : texelFetch(image_0, texel, 0);
  }
  if (which == 1) {
    return is_smooth ? texture(image_1, at) : texelFetch(image_1, texel, 0);
  }
  if (which == 2) {
    return is_smooth ? texture(image_2, at) : texelFetch(image_2, texel, 0);
  }
  return is_smooth ? texture(image_3, at) : texelFetch(image_3, texel, 0);
}

#ifdef PAINTED
vec2 image_position(int header, int which)
{
  vec4 first = material_row(header + 4 + 2 * which);
  vec4 second = material_row(header + 5 + 2 * which);
  vec3 at = vec3((first.w == 0.0) ? uv_maps.xy : uv_maps.zw, 1.0);
  return vec2(dot(first.xyz, at), dot(second.xyz, at));
}

/* How a texture is read: its extension, plus 4 times its kind of alpha, plus 16 where it is not smooth. */
vec4 texel_of(int header, int which)
{
  vec2 at = image_position(header, which);
  int how = int(material_row(header + 5 + 2 * which).w + 0.5);
  int extension = how % 4;
  int alpha_mode = (how / 4) % 4;
  if (extension == CLIP && (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0))))) {
    return vec4(0.0);
  }
  if (extension == EXTEND) {
    at = clamp(at, vec2(0.0005), vec2(0.9995));
  }
  if (extension == MIRROR) {
    at = 1.0 - abs(1.0 - 2.0 * fract(at * 0.5));
  }
  vec4 texel = read_image(which, at, how < 16);
  if (alpha_mode == 1 && texel.a > 0.0) {
    texel.rgb /= texel.a;
  }
  return vec4(texel.rgb, (alpha_mode == 2) ? 1.0 : texel.a);
}
#endif

float luminance(vec3 of)
{
  return dot(of, vec3(0.2126, 0.7152, 0.0722));
}

vec4 channel(int which, vec4 of)
{
  return vec4((which == 4) ? luminance(of.rgb) : of[which]);
}

vec4 blended(vec4 share, vec4 a, vec3 b)
{
  return vec4(mix(a.rgb, b, share.x), a.a);
}

vec4 turned_hue(vec4 by, vec4 a)
{
  float top = max(max(a.r, a.g), a.b);
  float bottom = min(min(a.r, a.g), a.b);
  float chroma = (top > bottom) ? top - bottom : 1.0;
  vec3 away = (vec3(top) - a.rgb) / chroma;
  float angle = (a.r == top)   ? away.b - away.g :
                (a.g == top)   ? 2.0 + away.r - away.b :
                                 4.0 + away.g - away.r;
  angle = ((top > bottom) ? angle / 6.0 : 0.0) + by.x + 0.5;
  float strength = clamp(((top > 0.0) ? (top - bottom) / top : 0.0) * by.y, 0.0, 1.0);
  vec3 wheel = clamp(abs(fract(vec3(angle) + vec3(0.0, 2.0, 1.0) / 3.0) * 6.0 - 3.0) - 1.0, 0.0, 1.0);
  vec3 made = top * by.z * (1.0 + (wheel - 1.0) * strength);
  return vec4(max(mix(a.rgb, made, by.w), vec3(0.0)), a.a);
}

vec4 of_three(int operation, vec4 a, vec4 b, vec4 c)
{
  if (operation == OPERATION_COLOUR) {
    return vec4(a.x, b.x, c.x, 1.0);
  }
  if (operation == OPERATION_MIX) {
    return blended(a, b, c.rgb);
  }
  if (operation == OPERATION_BLEND_ADD) {
    return blended(a, b, b.rgb + c.rgb);
  }
  if (operation == OPERATION_BLEND_MULTIPLY) {
    return blended(a, b, b.rgb * c.rgb);
  }
  if (operation == OPERATION_BLEND_SUBTRACT) {
    return blended(a, b, b.rgb - c.rgb);
  }
  if (operation == OPERATION_BLEND_SCREEN) {
    return blended(a, b, 1.0 - (1.0 - b.rgb) * (1.0 - c.rgb));
  }
  if (operation == OPERATION_BLEND_DIFFERENCE) {
    return blended(a, b, abs(b.rgb - c.rgb));
  }
  if (operation == OPERATION_BLEND_DARKEN) {
    return blended(a, b, min(b.rgb, c.rgb));
  }
  if (operation == OPERATION_BLEND_LIGHTEN) {
    return blended(a, b, max(b.rgb, c.rgb));
  }
  return blended(a, b, mix(1.0 - 2.0 * (1.0 - b.rgb) * (1.0 - c.rgb), 2.0 * b.rgb * c.rgb,
                           vec3(lessThan(b.rgb, vec3(0.5)))));
}

vec4 of_two(int operation, vec4 a, vec4 b)
{
  if (operation == OPERATION_ADD) {
    return a + b;
  }
  if (operation == OPERATION_SUBTRACT) {
    return a - b;
  }
  if (operation == OPERATION_MULTIPLY) {
    return a * b;
  }
  if (operation == OPERATION_LESS) {
    return vec4(lessThan(a, b));
  }
  if (operation == OPERATION_GREATER) {
    return vec4(greaterThan(a, b));
  }
  if (operation == OPERATION_SMALLER_OF) {
    return min(a, b);
  }
  if (operation == OPERATION_LARGER_OF) {
    return max(a, b);
  }
  return pow(max(a, vec4(0.0)), b);
}

vec4 ramp_colour(vec4 table, float at)
{
  float place = clamp(at, 0.0, 1.0) * (table.y - 1.0);
  float before = min(floor(place), table.y - 2.0);
  int row = int(table.x + before + 0.5);
  return mix(material_row(row), material_row(row + 1), place - before);
}

vec4 of_one(int operation, int which, vec4 by, vec4 a)
{
  if (operation == OPERATION_CHANNEL) {
    return channel(which, a);
  }
  if (operation == OPERATION_ROUND) {
    return floor(a + 0.5);
  }
  if (operation == OPERATION_CLAMP) {
    return clamp(a, 0.0, 1.0);
  }
  if (operation == OPERATION_HUE) {
    return turned_hue(by, a);
  }
  if (operation == OPERATION_GAMMA) {
    return vec4(pow(max(a.rgb, vec3(0.0)), vec3(by.x)), a.a);
  }
  if (operation == OPERATION_CONTRAST) {
    return vec4(max(a.rgb * (1.0 + by.y) + by.x - by.y / 2.0, vec3(0.0)), a.a);
  }
  if (operation == OPERATION_RAMP) {
    return ramp_colour(by, a.x);
  }
  return vec4(mix(a.rgb, 1.0 - a.rgb, by.x), a.a);
}

vec4 looked_up(int operation, int header, int which, vec4 values)
{
  if (operation == OPERATION_OBJECT) {
    return object_colour;
  }
#ifdef PAINTED
  if (operation == OPERATION_TEXTURE) {
    return texel_of(header, which);
  }
  if (operation == OPERATION_ATTRIBUTE) {
    return painted;
  }
#endif
  return (operation == OPERATION_NUMBER) ? values : vec4(1.0);
}

/* Go through the steps whose rows begin there. */
vec4 outcome(int header, int begin, int steps)
{
  vec4 stack[MAX_DEPTH];
  int depth = 0;
  for (int step = 0; step < steps; step++) {
    vec4 head = material_row(begin + 2 * step);
    vec4 values = material_row(begin + 2 * step + 1);
    int operation = int(head.x + 0.5);
    int which = int(head.y + 0.5);
    int takes = int(head.z + 0.5);
    depth -= takes;
    if (takes == 0) {
      stack[depth] = looked_up(operation, header, which, values);
    }
    else if (takes == 1) {
      stack[depth] = of_one(operation, which, values, stack[depth]);
    }
    else if (takes == 2) {
      stack[depth] = of_two(operation, stack[depth], stack[depth + 1]);
    }
    else {
      stack[depth] = of_three(operation, stack[depth], stack[depth + 1], stack[depth + 2]);
    }
    depth++;
  }
  return stack[0];
}

/* The normal as a normal map bends it: tangents come from how position and UV change from pixel to pixel
 * (Schüler 2013, Followup: normal mapping without precomputed tangents). */
vec3 bent_normal(int header, vec3 n)
{
#ifdef PAINTED
  vec4 second = material_row(header + 1);
  if (second.y >= 0.0) {
    int which = int(second.y + 0.5);
    vec3 bend = mix(vec3(0.0, 0.0, 1.0), texel_of(header, which).xyz * 2.0 - 1.0, second.z);
    vec2 at = image_position(header, which);
    vec3 across = cross(dFdy(view_position), n);
    vec3 along = cross(n, dFdx(view_position));
    vec2 at_x = dFdx(at);
    vec2 at_y = dFdy(at);
    vec3 tangent = across * at_x.x + along * at_y.x;
    vec3 bitangent = across * at_x.y + along * at_y.y;
    float size = max(dot(tangent, tangent), dot(bitangent, bitangent));
    if (size > 0.0) {
      return normalize((tangent * bend.x + bitangent * bend.y) * inversesqrt(size) + n * bend.z);
    }
  }
#endif
  return n;
}
