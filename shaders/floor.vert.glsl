void main()
{
  in_clip = corner;
  gl_Position = vec4(corner, 0.0, 1.0);
}
