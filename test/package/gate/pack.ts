import { withBuiltPackage } from '../../../tools/build.ts';
import { packPackage } from '../../../tools/pack.ts';

/*
 * node pack.ts <folder>: packs the clone that is the current folder into <folder>, and builds it first if its build is older.
 * jest cannot load the tools, so the tests run this script.
 */
const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Usage: node pack.ts <folder>');
await withBuiltPackage(() => packPackage(folder), true);
