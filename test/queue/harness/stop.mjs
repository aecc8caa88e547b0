export { stopWorld as default } from './world.ts';
