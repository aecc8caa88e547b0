/** A contact of the benchmark; each service shows it in its own shape. */
export interface Contact {
	/** The number of the contact, from 1; its ids are derived from it. */
	number: number;
	firstName: string;
	lastName: string;
	email: string;
	phone: string;
	jobTitle: string;
	/** RFC 3339, later than that of the contact before. */
	createdAt: string;
}

const firstCreated = Date.parse('2024-01-01T00:00:00Z');
const apart = 300_000;

/** The contact with a number, always the same. */
export function contactNumber(number: number): Contact {
	// Real contacts are not created at even intervals.
	const uneven = (number * 7919) % apart;
	return {
		number,
		firstName: 'Ana',
		lastName: `Moreno ${number}`,
		email: `ana.${number}@bench.example`,
		phone: `+34600${String(number).padStart(6, '0')}`,
		jobTitle: 'Engineer',
		createdAt: new Date(firstCreated + number * apart + uneven).toISOString(),
	};
}

/** The first contact created at a time or later, as if there were infinitely many. */
export function firstSince(time: number): number {
	let number = Math.max(1, Math.floor((time - firstCreated) / apart) - 1);
	while (Date.parse(contactNumber(number).createdAt) < time) number++;
	return number;
}
