// Plain JavaScript, so that jest imports it natively, and Node itself runs what it imports.
export { startEndToEnd as default } from './world.ts';
