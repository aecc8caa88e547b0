import { withBuiltPackage } from '../../tools/build.ts';
import { packPackage } from '../../tools/pack.ts';

/*
 * node pack.ts <folder>: builds the clone that is the current folder and packs it into <folder>.
 * The tools are modules which jest cannot load, so the tests run this.
 */
const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Say which folder the tarball goes to.');
await withBuiltPackage(() => packPackage(folder));
