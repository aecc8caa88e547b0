import { withBuiltPackage } from '../../../tools/build.ts';
import { packPackage } from '../../../tools/pack.ts';

/*
 * node pack.ts <folder>: builds the clone that is the current folder and packs it into <folder>.
 * jest cannot load the tools, so the tests run this script.
 */
const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Usage: node pack.ts <folder>');
await withBuiltPackage(() => packPackage(folder), true);
