/* How a vertex follows its bones: linear, rigid, and dual quaternion skinning.
 *
 * MORE_INFLUENCES may be defined: 8 instead of 4. A bone is named by the first of its rows: its rotation
 * (quaternion, xyzw), its position, then, where any bone of the instance is stretched, the rows of its stretch,
 * all leading from the rest pose to the posed model. core/skinning is the reference for every function here.
 *
 * No struct constructors, no implicit conversions, no precision qualifiers: Metal takes none of them. */

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

vec3 stretch_position(int bone, bool stretched, vec3 position)
{
  return stretched ? transformed(bone + 2, vec4(position, 1.0)) : position;
}

/* Normals turn by the cofactors, which are the inverse transpose but for a factor. That factor, the
 * determinant, is kept, so that blending by weight is that of the reference. */
vec3 stretch_normal(int bone, bool stretched, vec3 normal)
{
  if (!stretched) {
    return normal;
  }
  vec3 x = row(bone + 2).xyz;
  vec3 y = row(bone + 3).xyz;
  vec3 z = row(bone + 4).xyz;
  vec3 xc = cross(y, z);
  vec3 yc = cross(z, x);
  vec3 zc = cross(x, y);
  float mirrored = (dot(xc, x) < 0.0) ? -1.0 : 1.0;
  return mirrored * vec3(dot(xc, normal), dot(yc, normal), dot(zc, normal));
}

void add_linear(int bone, bool stretched, float weight, vec3 position, vec3 normal, inout vec3 moved,
                inout vec3 turned)
{
  if (weight == 0.0) {
    return;
  }
  vec4 rotation = row(bone);
  vec3 offset = row(bone + 1).xyz;
  moved += weight * (rotate(rotation, stretch_position(bone, stretched, position)) + offset);
  turned += weight * rotate(rotation, stretch_normal(bone, stretched, normal));
}

void add_dual_quaternion(int bone, bool stretched, float weight, vec4 first, vec3 position, vec3 normal,
                         inout vec4 real, inout vec4 dual, inout vec3 blended)
{
  if (weight == 0.0) {
    return;
  }
  vec4 rotation = row(bone);
  vec3 offset = row(bone + 1).xyz;
  if (dot(rotation, first) < 0.0) {
    rotation = -rotation;
  }
  if (stretched) {
    offset += rotate(rotation, stretch_position(bone, stretched, position) - position);
  }
  real += weight * rotation;
  dual += weight * 0.5 * multiply(vec4(offset, 0.0), rotation);
  vec3 part = stretch_normal(bone, stretched, normal);
  float size = length(part);
  blended += (size > 0.0) ? weight * part / size : vec3(0.0);
}

/* Move a rest position and its unit normal; the turned normal is unit again. stretched: whether the bones have five
 * rows, not two. */
void skin_vertex(int method, bool stretched, vec3 position, vec3 normal, ivec4 bones, vec4 weights, ivec4 more_bones,
                 vec4 more_weights, out vec3 moved, out vec3 turned)
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
    vec4 first = row(bones.x);
    vec4 real = vec4(0.0);
    vec4 dual = vec4(0.0);
    vec3 blended = vec3(0.0);
    add_dual_quaternion(bones.x, stretched, weights.x, first, position, normal, real, dual, blended);
    add_dual_quaternion(bones.y, stretched, weights.y, first, position, normal, real, dual, blended);
    add_dual_quaternion(bones.z, stretched, weights.z, first, position, normal, real, dual, blended);
    add_dual_quaternion(bones.w, stretched, weights.w, first, position, normal, real, dual, blended);
#ifdef MORE_INFLUENCES
    add_dual_quaternion(more_bones.x, stretched, more_weights.x, first, position, normal, real, dual, blended);
    add_dual_quaternion(more_bones.y, stretched, more_weights.y, first, position, normal, real, dual, blended);
    add_dual_quaternion(more_bones.z, stretched, more_weights.z, first, position, normal, real, dual, blended);
    add_dual_quaternion(more_bones.w, stretched, more_weights.w, first, position, normal, real, dual, blended);
#endif
    float size = length(real);
    real /= size;
    dual /= size;
    vec4 conjugate = vec4(-real.xyz, real.w);
    moved = rotate(real, position) + 2.0 * multiply(dual, conjugate).xyz;
    turned = normalize(rotate(real, blended));
    return;
  }
  moved = vec3(0.0);
  turned = vec3(0.0);
  if (method == METHOD_RIGID) {
    add_linear(bones.x, stretched, 1.0, position, normal, moved, turned);
  }
  else {
    add_linear(bones.x, stretched, weights.x, position, normal, moved, turned);
    add_linear(bones.y, stretched, weights.y, position, normal, moved, turned);
    add_linear(bones.z, stretched, weights.z, position, normal, moved, turned);
    add_linear(bones.w, stretched, weights.w, position, normal, moved, turned);
#ifdef MORE_INFLUENCES
    add_linear(more_bones.x, stretched, more_weights.x, position, normal, moved, turned);
    add_linear(more_bones.y, stretched, more_weights.y, position, normal, moved, turned);
    add_linear(more_bones.z, stretched, more_weights.z, position, normal, moved, turned);
    add_linear(more_bones.w, stretched, more_weights.w, position, normal, moved, turned);
#endif
    /* Weights in single precision miss 1 by a little; far from the origin that little is seen. */
    moved += missing * position;
  }
  float size = length(turned);
  turned = (size > 0.0) ? turned / size : normal;
}
