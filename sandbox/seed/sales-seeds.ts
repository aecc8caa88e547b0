import type { StoredRecord } from '../core/schemas/resource.ts';
import type { Stage } from '../core/schemas/pipelines.ts';
import { dateAfter, type Times } from './history.ts';
import type { Random } from './random.ts';
import { idMaker } from '../core/foundation/ids.ts';

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

const subjects = [
	'Annual license', 'Pilot project', 'Extension to all sites', 'Service contract', 'Training package', 'Migration',
	'Hardware refresh',
];
const lostReasons = ['Chose a cheaper offer', 'No budget this year', 'Project was stopped'];
const sources = ['website', 'referral', 'event', 'partner', 'cold_outreach'];

/**
 * @param pipelines the pipelines of the deals; most deals are in the first one
 * @param people the contacts of the deals
 * @param end the instant at which the data ends; open deals are expected to close about then
 * @returns a function that creates the values of the next deal
 */
export function dealSeeds(random: Random, pipelines: StoredRecord[], people: StoredRecord[], end: number) {
	return (i: number, { createdAt, updatedAt }: Times): Record<string, unknown> => {
		const pipeline = random.chance(0.8) ? pipelines[0]! : random.pick(pipelines);
		const stage = random.pick(pipeline['stages'] as Stage[]);
		const contact = random.pick(people);
		const isMoved = random.chance(0.9) || stage.kind !== 'open';
		const movedAt = isMoved ? updatedAt : createdAt;
		return {
			title: `${random.pick(subjects)} ${new Date(createdAt).getUTCFullYear()}`,
			pipeline_id: pipeline.id,
			stage_id: stage.id,
			status: stage.kind,
			amount: 500 * (1 + random.below(160)),
			currency: random.chance(0.85) ? 'EUR' : random.pick(['USD', 'GBP']),
			probability: random.chance(0.2) ? 5 * random.below(20) : null,
			expected_close_date:
				stage.kind === 'open' ? dateAfter(end, random.below(70) - 10) : dateAfter(movedAt, random.below(20) - 10),
			company_id: contact['company_id'],
			contact_id: contact.id,
			contact_ids: [contact.id],
			lost_reason: stage.kind === 'lost' ? random.pick(lostReasons) : null,
			source: random.pick(sources),
			external_id: random.chance(0.3) ? `offer-${2000 + i}` : null,
			stage_entered_at: movedAt,
			closed_at: stage.kind === 'open' ? null : movedAt,
			custom_fields: {},
		};
	};
}
