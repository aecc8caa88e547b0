/**
 * Thrown where the content of a file proves wrong, in the user's words. Every other error, such as one of n8n's
 * binary store, says nothing of the file: another attempt may read it to its end.
 */
export class UnreadableFile extends Error {}
