import { createHash } from 'node:crypto';
import { isSame } from '../store/secrets.ts';

/** A SHA-256 hash in base64url without padding (RFC 7636, 4.2). */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Whether the verifier is the one that the challenge was made of, with the method S256. */
export function verifies(verifier: string, challenge: string): boolean {
	if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
	return isSame(createHash('sha256').update(verifier).digest('base64url'), challenge);
}
