import { createHash } from 'node:crypto';

/** The SHA-256 digest of a text, in hexadecimal digits. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
