/* This vertex of the batch, moved by the palette: position and unit normal in the armature's space. */
void posed_vertex(out vec3 moved, out vec3 turned)
{
  vec3 rest = (object.armature_from_mesh * vec4(position, 1.0)).xyz;
  vec3 rest_normal = normalize((object.armature_from_mesh_normal * vec4(normal, 0.0)).xyz);
#ifdef MORE_INFLUENCES
  skin_vertex(role_choice.y, rest, rest_normal, bones, weights, more_bones, more_weights, moved, turned);
#else
  skin_vertex(role_choice.y, rest, rest_normal, bones, weights, ivec4(0), vec4(0.0), moved, turned);
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
