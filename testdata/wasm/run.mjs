// node run.mjs MODULE PROFILE: runs the program and writes its raw profile, as embedders do.
import fs from "fs";
const [module, profile] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(module)), { env: {} });
exports.run();
const start = exports.profile();
fs.writeFileSync(profile, new Uint8Array(exports.memory.buffer, start, exports.profileEnd() - start));
