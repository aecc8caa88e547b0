export { stopWorlds as default } from './world.ts';
