// Where three.js' AnimationMixer has the joints of a file: node joints.mjs FILE FPS, prints JSON.
// Of each animation its name, its seconds, and the places of all bones in the world at each frame.
import { readFile } from 'node:fs/promises';
import { AnimationMixer, Vector3 } from 'three';
import { FBXLoader } from 'three/examples/jsm/loaders/FBXLoader.js';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';

// What loaders ask for in a browser; pictures count as loaded, and are not looked at.
globalThis.self ??= globalThis;
globalThis.document ??= {
  createElementNS: () => ({
    addEventListener(event, done) { if (event === 'load') queueMicrotask(() => done.call(this)); },
    removeEventListener() {},
  }),
};

const [path, fps] = process.argv.slice(2);
const bytes = await readFile(path);
const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const file = path.endsWith('.glb')
  ? await new GLTFLoader().parseAsync(data, '').then((gltf) => ({ scene: gltf.scene, clips: gltf.animations }))
  : ((scene) => ({ scene, clips: scene.animations }))(new FBXLoader().parse(data, ''));

const bones = new Map();
file.scene.traverse((object) => {
  if (object.isBone) bones.set(object.userData.name ?? object.userData.originalName ?? object.name, object);
});
const place = new Vector3();
const animations = file.clips.map((clip) => {
  const mixer = new AnimationMixer(file.scene);
  mixer.clipAction(clip).play();
  const frames = [];
  for (let frame = 0; frame <= Math.round(clip.duration * fps); frame++) {
    mixer.setTime(Math.min(frame / fps, clip.duration * (1 - 1e-12)));
    file.scene.updateMatrixWorld(true);
    frames.push(Object.fromEntries([...bones].map(([name, bone]) => [
      name, place.setFromMatrixPosition(bone.matrixWorld).toArray()])));
  }
  mixer.stopAllAction();
  mixer.uncacheRoot(file.scene);
  return { name: clip.name, seconds: clip.duration, frames };
});
process.stdout.write(JSON.stringify(animations));
