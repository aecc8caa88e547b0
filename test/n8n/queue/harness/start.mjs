// Plain JavaScript, so that jest imports it natively, and Node itself runs what it imports.
export { startQueueWorld as default } from './queue-world.ts';
