export { stopWorld as default } from './queue-world.ts';
