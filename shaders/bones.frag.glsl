void main()
{
  colour = vec4(0.0, 0.0, 0.0, 1.0);
}
