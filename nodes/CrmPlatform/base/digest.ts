import { createHash } from 'node:crypto';

/** The SHA-256 digest of a text, by default in hexadecimal digits. */
export const sha256 = (text: string, encoding: 'hex' | 'base64url' = 'hex'): string => createHash('sha256').update(text).digest(encoding);
