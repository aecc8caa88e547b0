// Plain JavaScript, so that jest imports it natively, and Node itself runs what it imports.
export { startPrism as default } from './prism.ts';
