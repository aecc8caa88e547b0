import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Generates 256 random bits with a prefix that names their purpose. */
export const newSecret = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

/**
 * The stored hash of a secret. Random secrets cannot be guessed, so SHA-256 suffices. The timing of an
 * index lookup reveals nothing, because hashes cannot be chosen.
 */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Compares two texts in constant time. */
export const isSameSecret = (a: string, b: string): boolean => timingSafeEqual(hashOf(a), hashOf(b));
