import { createHash } from 'node:crypto';
import { isSameSecret } from '../../core/store/credentials/secrets.ts';

/** A SHA-256 hash in base64url without padding (RFC 7636, 4.2). */
export const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/** Verifies a code verifier against a challenge with the method S256 (RFC 7636, 4.6). */
export function verifies(verifier: string, challenge: string): boolean {
	if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
	return isSameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge);
}
