/* This vertex of the batch, moved by the palette: position and unit normal in the armature's space. */
void posed_vertex(out vec3 moved, out vec3 turned)
{
  vec3 rest = (drawing.armature_from_mesh * vec4(position, 1.0)).xyz;
  vec3 rest_normal = normalize((drawing.armature_from_mesh_normal * vec4(normal, 0.0)).xyz);
#ifdef MORE_INFLUENCES
  skin_vertex(drawing.choice.y, rest, rest_normal, bones, weights, more_bones, more_weights, moved, turned);
#else
  skin_vertex(drawing.choice.y, rest, rest_normal, bones, weights, ivec4(0), vec4(0.0), moved, turned);
#endif
}
