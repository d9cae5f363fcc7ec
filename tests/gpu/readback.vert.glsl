/* Every vertex writes what it computed into a pixel of its own. */
void main()
{
  vec3 moved;
  vec3 turned;
  posed_vertex(this_instance(), moved, turned);
  computed_position = moved;
  computed_normal = turned;
  gl_Position = vec4(pixel, 0.0, 1.0);
  gl_PointSize = 1.0;
}
