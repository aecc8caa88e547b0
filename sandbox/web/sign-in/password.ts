import { scrypt as scryptWithCallback, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const scrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptWithCallback);

/** A hash that no password matches; comparing with it takes as long as with any other. */
export const nobodysPassword = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * @param stored `scrypt$N$r$p$salt$hash`, the last two in base64url. OWASP's Password Storage Cheat
 * Sheet recommends N 16384, r 8 and p 5, which take 16 MiB and some 200 ms.
 */
export async function isPassword(password: string, stored: string): Promise<boolean> {
	const [, N, r, p, salt, hash] = stored.split('$');
	const expected = Buffer.from(hash!, 'base64url');
	const cost = { N: Number(N), r: Number(r), p: Number(p) };
	const salted = Buffer.from(salt!, 'base64url');
	return timingSafeEqual(await scrypt(password, salted, expected.length, cost), expected);
}
