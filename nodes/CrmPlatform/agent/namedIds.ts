import { sha256 } from '../base/digest';

/** The records that the model identified by name. The write may change that name. */
export function namedIds(targets: Array<{ id: string; nameOrId: string } | undefined>): string[] {
	const entries = targets.flatMap((target) =>
		target && target.nameOrId !== target.id ? [`${nameDigest(target.nameOrId)}${plainText(target.id)}`] : [],
	);
	return entries.length > 0 ? [entries.join('-')] : [];
}

/** The id of the record that had this name when the token was made. The signature must confirm it. */
export function idBehindName(token: string | undefined, nameOrId: string): string | undefined {
	const parts = (token ?? '').trim().replace(/\.$/, '').split('.');
	const matchingEntry = parts.length === 4 ? parts[2]!.split('-').find((entry) => entry.startsWith(nameDigest(nameOrId))) : undefined;
	if (matchingEntry === undefined) return undefined;
	try {
		return decodeURIComponent(matchingEntry.slice(nameDigest('').length));
	} catch {
		return undefined;
	}
}

const nameDigest = (name: string): string => sha256(name.trim().toLowerCase()).slice(0, 8);

const plainText = (id: string): string =>
	encodeURIComponent(id).replace(/[.~!'()*-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
