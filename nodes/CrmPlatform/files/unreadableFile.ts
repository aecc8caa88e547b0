/**
 * Thrown if the content of a file is invalid, in the user's words. Any other error, such as one of n8n's binary
 * store, does not concern the content: another attempt may succeed.
 */
export class UnreadableFile extends Error {}
