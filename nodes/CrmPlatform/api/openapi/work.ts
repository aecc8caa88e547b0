import { getOrCreate } from '../../base/maps';
import type { OpenApiDocument } from './openapi';

/** The cost of reading a description so far, and what was left out of it because of its size. */
interface Work {
	steps: number;
	leftOut: Set<string>;
}

const works = new WeakMap<OpenApiDocument, Work>();

const workOn = (document: OpenApiDocument): Work => getOrCreate(works, document, () => ({ steps: 0, leftOut: new Set<string>() }));

/** Counts schemas and references that were read. */
export function countSteps(document: OpenApiDocument, steps: number): void {
	workOn(document).steps += steps;
}

/** How many schemas and references were read. */
export const stepsTaken = (document: OpenApiDocument): number => workOn(document).steps;

/** Records what is not read, in words that can follow *were not read:*. */
export function leaveOut(document: OpenApiDocument, omission: string): void {
	workOn(document).leftOut.add(omission);
}

/** A notice about the parts that were not read; undefined if there are none. */
export function leftOutOf(document: OpenApiDocument): string | undefined {
	const { leftOut } = workOn(document);
	if (leftOut.size === 0) return undefined;
	return `Parts of the CRM’s API description are too large and were not read: ${[...leftOut].join('; ')}. Fields may be missing from forms; enter them as JSON.`;
}
