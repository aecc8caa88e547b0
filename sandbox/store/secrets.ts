import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, with a prefix that tells what they are for. */
export const newSecret = (prefix: string): string =>
	`${prefix}_${randomBytes(32).toString('base64url')}`;

/**
 * What is kept of a secret. SHA-256 will do for random ones, which cannot be guessed; and looking
 * the hash up in an index tells nothing about the secret, since nobody can choose hashes.
 */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether two texts are the same; takes equally long wherever they differ. */
export const isSame = (one: string, other: string): boolean =>
	timingSafeEqual(hashOf(one), hashOf(other));
