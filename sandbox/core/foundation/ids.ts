/** Crockford's Base32 in lower case, which sorts as the numbers do. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const randomLength = 16;

/**
 * Creates a generator of ids: a prefix and a lower-case ULID (github.com/ulid/spec), which sort by
 * creation, also within one millisecond.
 *
 * @param random returns numbers in [0, 1)
 * @returns takes a prefix and the time in milliseconds since 1970
 */
export function idMaker(random: () => number = Math.random) {
	let lastTime = -1;
	let time = '';
	let tail: number[] = [];
	return (prefix: string, now: number): string => {
		if (now > lastTime) {
			lastTime = now;
			time = timePart(now);
			// The first digit stays low, so that incrementing cannot overflow.
			tail = Array.from({ length: randomLength }, (_, i) => Math.floor(random() * (i ? 32 : 16)));
		} else {
			countUp(tail);
		}
		return `${prefix}_${time}${tail.map((digit) => alphabet[digit]).join('')}`;
	};
}

function countUp(digits: number[]): void {
	let place = digits.length - 1;
	while (digits[place] === 31) digits[place--] = 0;
	digits[place]! += 1;
}

function timePart(time: number): string {
	let rest = time;
	let part = '';
	for (let i = 0; i < 10; i++) {
		part = alphabet[rest % 32] + part;
		rest = Math.floor(rest / 32);
	}
	return part;
}
