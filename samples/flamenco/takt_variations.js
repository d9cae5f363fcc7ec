// A job type for Flamenco 3: a score played in many variations, one task for each seed.
// Put this file into the folder `scripts` beside the Flamenco Manager, and restart the Manager.

const JOB_TYPE = {
    label: "Takt Variations",
    description: "Play, film or export a score for many seeds, by blender --command takt",
    settings: [
        { key: "verb", type: "string", required: true, default: "film", choices: ["play", "film", "export"],
          description: "What is written for each seed: a .blend, a film, or a file for game engines" },
        { key: "rig", type: "string", subtype: "file_path", required: true,
          eval: "bpy.data.filepath", description: "The .blend with the character" },
        { key: "score", type: "string", subtype: "file_path",
          description: "The .pha that is played; empty: what the character plays already" },
        { key: "folder", type: "string", subtype: "dir_path", required: true, description: "Where the files go" },
        { key: "ending", type: "string", required: true, default: ".mp4",
          description: "Of the files: .blend for play, .mp4 or .png for film, .glb, .gltf or .fbx for export" },
        { key: "seeds", type: "string", required: true, default: "1-10", description: "Such as 1-10, or 1, 5, 7-9" },
        { key: "values", type: "string", description: "Parameters, such as turns=3, fast=yes" },
        { key: "cast", type: "string", description: "Roles, such as seat=Chair, path=Curve" },
        { key: "frames", type: "string", description: "Frames of a film, such as 1-48; empty: the whole score" },
    ]
};

function compileJob(job) {
    for (const seed of seedsOf(job.settings.seeds)) {
        const task = author.Task(`takt-${job.settings.verb}-${seed}`, "blender");
        task.addCommand(author.Command("exec", { exe: "{blender}", args: argumentsOf(job.settings, seed) }));
        job.addTask(task);
    }
}

function argumentsOf(settings, seed) {
    const args = ["--background", "--command", "takt", settings.verb, settings.rig,
                  "--out", `${settings.folder}/seed_${String(seed).padStart(4, "0")}${settings.ending}`,
                  "--seed", String(seed)];
    if (settings.score) args.push("--score", settings.score);
    for (const value of listed(settings.values)) args.push("--set", value);
    for (const role of listed(settings.cast)) args.push("--cast", role);
    if (settings.frames && settings.verb === "film") args.push("--frames", settings.frames);
    return args;
}

function seedsOf(said) {
    const seeds = [];
    for (const part of listed(said)) {
        const [first, last] = part.split("-").map(Number);
        if (!Number.isInteger(first) || (last !== undefined && !(Number.isInteger(last) && last >= first)))
            throw `seeds: expected numbers and ranges, as 1-10 or 1, 5, not ${part}`;
        for (let seed = first; seed <= (last === undefined ? first : last); seed++) seeds.push(seed);
    }
    return seeds;
}

function listed(said) {
    return (said || "").split(",").map((each) => each.trim()).filter((each) => each);
}
