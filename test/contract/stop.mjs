export { stopPrism as default } from './prism.ts';
