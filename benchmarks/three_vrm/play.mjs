// Plays a VRM animation on a VRM avatar without a window: node play.mjs AVATAR.vrm MOTION.vrma "[seconds, …]"
// Prints as JSON: for each bone how its node is turned in the world, at rest and at each time, and where the hips are.
import {readFileSync} from "node:fs";
import {AnimationMixer, Quaternion, REVISION, Vector3} from "three";
import {GLTFLoader} from "three/examples/jsm/loaders/GLTFLoader.js";
import {VRMLoaderPlugin} from "@pixiv/three-vrm";
import {VRMAnimationLoaderPlugin, createVRMAnimationClip} from "@pixiv/three-vrm-animation";

globalThis.self = globalThis;  // which the loader looks for textures by
const [avatar, motion, times] = process.argv.slice(2);

async function load(path) {
  const loader = new GLTFLoader();
  loader.register(parser => new VRMLoaderPlugin(parser));
  loader.register(parser => new VRMAnimationLoaderPlugin(parser));
  const data = readFileSync(path);
  const gltf = await loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), "");
  return gltf.userData;
}

const {vrm} = await load(avatar);
const {vrmAnimations: [animation]} = await load(motion);
const names = Object.keys(vrm.humanoid.humanBones), bones = Object.fromEntries(names.map(name => [name, []]));

function look() {
  vrm.scene.updateMatrixWorld(true);
  for (const name of names)
    bones[name].push(vrm.humanoid.getRawBoneNode(name).getWorldQuaternion(new Quaternion()).toArray());
  return vrm.humanoid.getRawBoneNode("hips").getWorldPosition(new Vector3()).toArray();
}

const mixer = new AnimationMixer(vrm.scene);
const hips = [look()];
mixer.clipAction(createVRMAnimationClip(animation, vrm)).play();
for (const time of JSON.parse(times)) {
  mixer.setTime(time);
  vrm.update(0);
  hips.push(look());
}
console.log(JSON.stringify({version: `three ${REVISION}`, meta: vrm.meta.metaVersion, bones, hips}));
