// Plain JavaScript, so that jest imports it natively, and Node itself runs what it imports.
export { startWorld as default } from './queue-world.ts';
