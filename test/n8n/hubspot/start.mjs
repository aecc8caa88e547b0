// Plain JavaScript, so that jest imports it natively, and Node itself runs what it imports.
export { startHubSpotWorld as default } from './hubspot-world.ts';
