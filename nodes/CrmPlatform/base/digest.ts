import { createHash } from 'node:crypto';

export const sha256 = (text: string, encoding: 'hex' | 'base64url' = 'hex'): string => createHash('sha256').update(text).digest(encoding);

/** A digest of 53 bits (FNV-1a, twice): of a million keys, two are alike with a probability of 1 in 18,000. */
export function keyDigest(text: string): number {
	let low = 0x811c9dc5;
	let high = 0x2f0b4c47;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		low = Math.imul(low ^ code, 0x01000193);
		high = Math.imul(high ^ code, 0x85ebca6b);
	}
	return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
}
