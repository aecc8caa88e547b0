import { createHash } from 'node:crypto';

/** The records that the model identified by name. The write may change that name. */
export function namedIds(targets: Array<{ id: string; given?: string } | undefined>): string[] {
	const named = targets.flatMap((target) => (target?.given === undefined || target.given === target.id ? [] : [`${nameDigest(target.given)}${plainText(target.id)}`]));
	return named.length > 0 ? [named.join('-')] : [];
}

/** The id of the record that had this name when the token was made. The signature must confirm it. */
export function idBehindName(token: string | undefined, given: string): string | undefined {
	const parts = (token ?? '').trim().replace(/\.$/, '').split('.');
	const own = parts.length === 4 ? parts[2]!.split('-').find((one) => one.startsWith(nameDigest(given))) : undefined;
	if (own === undefined) return undefined;
	try {
		return decodeURIComponent(own.slice(nameDigest('').length));
	} catch {
		return undefined;
	}
}

const nameDigest = (name: string): string => createHash('sha256').update(name.trim().toLowerCase()).digest('hex').slice(0, 8);

const plainText = (id: string): string => encodeURIComponent(id).replace(/[.~!'()*-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
