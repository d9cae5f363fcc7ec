/* How a vertex follows its bones: linear, rigid, and dual quaternion skinning.
 *
 * The file that includes this declares palette_row(int), which returns one vec4 of the palette, and may
 * define STRETCHED (each bone has three more rows) and MORE_INFLUENCES (8 instead of 4).
 * A bone's rows: its rotation (quaternion, xyzw), its position, then the rows of its stretch, all leading
 * from the rest pose to the posed model. core/skinning is the reference for every function here.
 *
 * No struct constructors, no implicit conversions, no precision qualifiers: Metal takes none of them. */

const int METHOD_LINEAR = 0;
const int METHOD_DUAL_QUATERNION = 1;
const int METHOD_RIGID = 2;

#ifdef STRETCHED
const int ROWS_PER_BONE = 5;
#else
const int ROWS_PER_BONE = 2;
#endif

/* v + 2w (u × v) + 2u × (u × v), the two quaternion products written with cross products (Fecko 2010). */
vec3 rotate(vec4 q, vec3 v)
{
  vec3 twice = 2.0 * cross(q.xyz, v);
  return v + q.w * twice + cross(q.xyz, twice);
}

vec4 multiply(vec4 a, vec4 b)
{
  return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

vec3 stretch_position(int bone, vec3 position)
{
#ifdef STRETCHED
  vec4 point = vec4(position, 1.0);
  int row = bone * ROWS_PER_BONE + 2;
  return vec3(dot(palette_row(row), point), dot(palette_row(row + 1), point), dot(palette_row(row + 2), point));
#else
  return position;
#endif
}

/* Normals turn by the cofactors, which are the inverse transpose but for a factor. That factor, the
 * determinant, is kept, so that blending by weight is that of the reference. */
vec3 stretch_normal(int bone, vec3 normal)
{
#ifdef STRETCHED
  int row = bone * ROWS_PER_BONE + 2;
  vec3 x = palette_row(row).xyz;
  vec3 y = palette_row(row + 1).xyz;
  vec3 z = palette_row(row + 2).xyz;
  vec3 xc = cross(y, z);
  vec3 yc = cross(z, x);
  vec3 zc = cross(x, y);
  float mirrored = (dot(xc, x) < 0.0) ? -1.0 : 1.0;
  return mirrored * vec3(dot(xc, normal), dot(yc, normal), dot(zc, normal));
#else
  return normal;
#endif
}

void add_linear(int bone, float weight, vec3 position, vec3 normal, inout vec3 moved, inout vec3 turned)
{
  if (weight == 0.0) {
    return;
  }
  vec4 rotation = palette_row(bone * ROWS_PER_BONE);
  vec3 offset = palette_row(bone * ROWS_PER_BONE + 1).xyz;
  moved += weight * (rotate(rotation, stretch_position(bone, position)) + offset);
  turned += weight * rotate(rotation, stretch_normal(bone, normal));
}

void add_dual_quaternion(int bone, float weight, vec4 first, vec3 position, vec3 normal,
                         inout vec4 real, inout vec4 dual, inout vec3 stretched)
{
  if (weight == 0.0) {
    return;
  }
  vec4 rotation = palette_row(bone * ROWS_PER_BONE);
  vec3 offset = palette_row(bone * ROWS_PER_BONE + 1).xyz;
  if (dot(rotation, first) < 0.0) {
    rotation = -rotation;
  }
#ifdef STRETCHED
  offset += rotate(rotation, stretch_position(bone, position) - position);
#endif
  real += weight * rotation;
  dual += weight * 0.5 * multiply(vec4(offset, 0.0), rotation);
  vec3 part = stretch_normal(bone, normal);
  float size = length(part);
  stretched += (size > 0.0) ? weight * part / size : vec3(0.0);
}

/* Move a rest position and its unit normal; the turned normal is unit again. */
void skin_vertex(int method, vec3 position, vec3 normal, ivec4 bones, vec4 weights, ivec4 more_bones, vec4 more_weights,
                 out vec3 moved, out vec3 turned)
{
  float missing = 1.0 - dot(weights, vec4(1.0));
#ifdef MORE_INFLUENCES
  missing -= dot(more_weights, vec4(1.0));
#endif
  if (weights.x == 0.0) {
    moved = position;
    turned = normal;
    return;
  }
  if (method == METHOD_DUAL_QUATERNION) {
    vec4 first = palette_row(bones.x * ROWS_PER_BONE);
    vec4 real = vec4(0.0);
    vec4 dual = vec4(0.0);
    vec3 stretched = vec3(0.0);
    add_dual_quaternion(bones.x, weights.x, first, position, normal, real, dual, stretched);
    add_dual_quaternion(bones.y, weights.y, first, position, normal, real, dual, stretched);
    add_dual_quaternion(bones.z, weights.z, first, position, normal, real, dual, stretched);
    add_dual_quaternion(bones.w, weights.w, first, position, normal, real, dual, stretched);
#ifdef MORE_INFLUENCES
    add_dual_quaternion(more_bones.x, more_weights.x, first, position, normal, real, dual, stretched);
    add_dual_quaternion(more_bones.y, more_weights.y, first, position, normal, real, dual, stretched);
    add_dual_quaternion(more_bones.z, more_weights.z, first, position, normal, real, dual, stretched);
    add_dual_quaternion(more_bones.w, more_weights.w, first, position, normal, real, dual, stretched);
#endif
    float size = length(real);
    real /= size;
    dual /= size;
    vec4 conjugate = vec4(-real.xyz, real.w);
    moved = rotate(real, position) + 2.0 * multiply(dual, conjugate).xyz;
    turned = normalize(rotate(real, stretched));
    return;
  }
  moved = vec3(0.0);
  turned = vec3(0.0);
  if (method == METHOD_RIGID) {
    add_linear(bones.x, 1.0, position, normal, moved, turned);
  }
  else {
    add_linear(bones.x, weights.x, position, normal, moved, turned);
    add_linear(bones.y, weights.y, position, normal, moved, turned);
    add_linear(bones.z, weights.z, position, normal, moved, turned);
    add_linear(bones.w, weights.w, position, normal, moved, turned);
#ifdef MORE_INFLUENCES
    add_linear(more_bones.x, more_weights.x, position, normal, moved, turned);
    add_linear(more_bones.y, more_weights.y, position, normal, moved, turned);
    add_linear(more_bones.z, more_weights.z, position, normal, moved, turned);
    add_linear(more_bones.w, more_weights.w, position, normal, moved, turned);
#endif
    /* Weights in single precision miss 1 by a little; far from the origin that little is seen. */
    moved += missing * position;
  }
  float size = length(turned);
  turned = (size > 0.0) ? turned / size : normal;
}
