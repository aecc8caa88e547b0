import { idMaker } from '../core/foundation/ids.ts';
import type { Times } from './history.ts';
import type { Random } from './random.ts';

/** Name, kind, probability in percent, rotting days. */
type StageSeed = readonly [string, 'open' | 'won' | 'lost', number, number | null];

const seeds: ReadonlyArray<readonly [string, readonly StageSeed[]]> = [
	[
		'Sales',
		[
			['Qualified', 'open', 10, 14],
			['Demo', 'open', 30, 14],
			['Proposal', 'open', 50, 21],
			['Negotiation', 'open', 75, 30],
			['Won', 'won', 100, null],
			['Lost', 'lost', 0, null],
		],
	],
	[
		'Renewals',
		[['Due', 'open', 70, 30], ['Offer Sent', 'open', 85, 21], ['Renewed', 'won', 100, null], ['Canceled', 'lost', 0, null]],
	],
];

export const pipelineCount = seeds.length;

/** @returns a function that creates the values of the next pipeline; the first one is the default */
export function pipelineSeeds(random: Random) {
	const newId = idMaker(random.next);
	return (i: number, { createdAt }: Times): Record<string, unknown> => {
		const [name, stages] = seeds[i]!;
		return {
			name,
			position: i,
			is_default: i === 0,
			currency: 'EUR',
			stages: stages.map(([stage, kind, probability, rottingDays], position) => ({
				id: newId('stg', Date.parse(createdAt)),
				name: stage,
				position,
				kind,
				probability,
				rotting_days: rottingDays,
			})),
		};
	};
}
