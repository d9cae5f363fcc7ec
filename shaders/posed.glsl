/* Where the record of the instance that is being drawn begins. */
int this_instance()
{
  return drawing.x + gl_InstanceID * RECORD_ROWS;
}

/* This vertex of the batch, moved by the bones of an instance: position and unit normal in the armature's space. */
void posed_vertex(int instance, out vec3 moved, out vec3 turned)
{
  vec3 rest = transformed(instance + RECORD_ARMATURE_FROM_MESH, vec4(position, 1.0));
  vec3 rest_normal = normalize(transformed(instance + RECORD_ARMATURE_FROM_MESH_NORMAL, vec4(normal, 0.0)));
  ivec4 how = whole_numbers(row(instance + RECORD_BONES));
  ivec4 first_rows = ivec4(how.x) + bones * how.y;
#ifdef MORE_INFLUENCES
  skin_vertex(how.z, how.y > 2, rest, rest_normal, first_rows, weights, ivec4(how.x) + more_bones * how.y,
              more_weights, moved, turned);
#else
  skin_vertex(how.z, how.y > 2, rest, rest_normal, first_rows, weights, ivec4(0), vec4(0.0), moved, turned);
#endif
}

/* How strongly this vertex follows a bone. */
float weight_of(int bone)
{
  float weight = dot(vec4(equal(bones, ivec4(bone))), weights);
#ifdef MORE_INFLUENCES
  weight += dot(vec4(equal(more_bones, ivec4(bone))), more_weights);
#endif
  return weight;
}
