import { type Problem, validationFailed } from '../../core/foundation/problem.ts';

/** Maximum number of values in a body or a line, more than a batch of a hundred full records has. */
const maxValues = 100_000;
const maxLevels = 40;
/** Maximum number of members of one list or object, twice what any field takes. */
const maxMembers = 1000;

const [quote, comma, escape] = [0x22, 0x2c, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON that has far more values than any record or batch, before it is parsed: parsing and validating
 * it would take long.
 *
 * @throws Problem validation_failed
 */
export function refuseTooManyValues(json: string): void {
	const members = new Uint32Array(maxLevels + 1);
	let values = 0;
	let level = 0;
	for (let i = 0; i < json.length; i++) {
		const code = json.charCodeAt(i);
		if (code === quote) {
			i = endOfString(json, i);
		} else if (opening.has(code)) {
			values += 1;
			level += 1;
			if (level > maxLevels) throw tooLarge(`Lists and objects may be nested in at most ${maxLevels} levels.`);
			members[level] = 1;
		} else if (closing.has(code)) {
			level = Math.max(0, level - 1);
		} else if (code === comma) {
			values += 1;
			members[level]! += 1;
		}
		if (members[level]! > maxMembers) throw tooLarge(`A list or an object may have at most ${maxMembers} members.`);
		if (values > maxValues) throw tooLarge('A body may have at most 100,000 values in all. Send it in smaller parts.');
	}
}

/** The index of the quotation mark that ends a string. */
function endOfString(json: string, start: number): number {
	for (let i = start + 1; i < json.length; i++) {
		const code = json.charCodeAt(i);
		if (code === quote) return i;
		if (code === escape) i += 1;
	}
	return json.length;
}

const tooLarge = (detail: string): Problem => validationFailed([{ pointer: '', code: 'too_long', detail }]);
