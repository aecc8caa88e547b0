import { z } from 'zod/v4';
import type { JsonObject } from '../foundation/json.ts';
import {
	about,
	calendarDate,
	choice,
	currency,
	instant,
	number,
	optional,
	pointInTime,
	readOnly,
	reference,
	references,
	requiredText,
	text,
} from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus, type RuleContext } from './resource.ts';
import { type Stage, stageKinds, stagesOf } from './pipelines.ts';

const lostReason = text(about('Reason the deal was lost.', 'Chose a cheaper offer'), 1000);

const dealFields = {
	title: requiredText(255).meta(about('Name of the deal.', 'Fleet telematics for Altamira Logistics')),
	pipeline_id: reference('pipelines', about('The pipeline of the deal; by default, the default pipeline.', exampleId('pip'))),
	stage_id: optional(
		z.string().min(1).max(64),
		about('A stage of the pipeline; by default, its first open one.', undefined, { 'x-item-of': 'pipelines.stages' }),
	),
	status: z.enum(stageKinds).meta(readOnly('The kind of the stage: open, won or lost.', 'open')),
	amount: number(about('Value of the deal, in its currency.', 24500)),
	currency: currency(about('Three-letter currency code; by default, that of the pipeline.', 'EUR')),
	probability: optional(
		z.number().min(0).max(100),
		about('Probability in percent that the deal is won; by default, that of the stage.', 60),
	),
	expected_close_date: optional(calendarDate, about('Date a decision is expected.', '2025-09-30')),
	company_id: reference('companies', about('The company the deal is with.', exampleId('com'))),
	contact_id: reference('contacts', about('The main contact.', exampleId('con'))),
	contact_ids: references('contacts', about('Everyone involved, including the main contact.', [exampleId('con')])),
	lost_reason: lostReason,
	source: choice(
		['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'other'],
		about('Source of the deal.', 'referral'),
	),
	stage_entered_at: pointInTime.meta(readOnly('Time the deal entered its stage.', '2025-03-01T09:30:00.000Z')),
	closed_at: instant(readOnly('Time the deal was won or lost.')),
	...sharedFields,
	...systemFields('deal'),
};

type Deal = z.output<z.ZodObject<typeof dealFields>>;

const isNot = (kind: Stage['kind']) => ({ status }: Deal): boolean => status !== kind;

const dealActions = {
	win: {
		summary: 'Win a deal',
		description: 'Moves the deal to the first won stage of its pipeline.',
		isPossible: isNot('won'),
		change: (deal: Deal, _input: unknown, context: RuleContext) => ({...moveTo('won', deal, context), lost_reason: null }),
	},
	lose: {
		summary: 'Lose a deal',
		description: 'Moves the deal to the first lost stage of its pipeline.',
		isPossible: isNot('lost'),
		input: { lost_reason: lostReason },
		change: (deal: Deal, { lost_reason: reason }: JsonObject, context: RuleContext) => ({
			...moveTo('lost', deal, context),
			lost_reason: (reason as string | null) ?? deal.lost_reason,
		}),
	},
	reopen: {
		summary: 'Reopen a deal',
		description: 'Moves the deal back to the first open stage of its pipeline.',
		isPossible: isNot('open'),
		change: (deal: Deal, _input: unknown, context: RuleContext) => ({...moveTo('open', deal, context), lost_reason: null }),
	},
};

/** Moves a deal to the first stage of this kind, unless it is in such a stage already. */
function moveTo(kind: Stage['kind'], deal: Deal, { find }: RuleContext) {
	if (deal.status === kind) return { stage_id: deal.stage_id };
	const stages = stagesOf(find('pipelines', deal.pipeline_id!));
	return { stage_id: stages.find((stage) => stage.kind === kind)!.id };
}

/** The events of a deal besides created, updated and deleted. */
const dealEvents = {
	stage_changed: {
		description: 'A deal was moved to another stage.',
		when: (deal: Deal, previous: Deal | undefined) => previous !== undefined && deal.stage_id !== previous.stage_id,
	},
	won: entersStatus('won', 'A deal was won.'),
	lost: entersStatus('lost', 'A deal was lost.'),
	reopened: {
		description: 'A won or lost deal was reopened.',
		when: (deal: Deal, previous: Deal | undefined) =>
			previous !== undefined && deal.status === 'open' && previous.status !== 'open',
	},
};

export const deals = defineResource({
	name: 'deals',
	object: 'deal',
	idPrefix: 'dea',
	description: 'Sales opportunities in a pipeline.',
	visibility: { owner: 'owner_id' },
	fields: dealFields,
	important: ['title', 'pipeline_id', 'stage_id', 'status', 'amount', 'expected_close_date', 'company_id', 'contact_id', 'owner_id'],
	unique: { external_id: ['external_id'] },
	sortable: ['title', 'amount', 'expected_close_date', 'stage_entered_at', 'closed_at'],
	searched: ['title', 'external_id'],
	lookups: ['pipeline_id', 'stage_id', 'company_id', 'contact_id', 'owner_id'],

	complete(deal, previous, context) {
		const pipelineId = deal.pipeline_id ?? defaultPipeline(context)?.id ?? null;
		const pipeline = pipelineId === null ? undefined : context.find('pipelines', pipelineId);
		const stages = stagesOf(pipeline);
		const stage =
			deal.stage_id === null
				? stages.find(({ kind }) => kind === 'open')
				: stages.find(({ id }) => id === deal.stage_id);
		const stageId = stage?.id ?? deal.stage_id;
		const status = stage?.kind ?? previous?.status ?? 'open';
		const isClosed = status !== 'open';
		const contactIds = deal.contact_id ? [deal.contact_id, ...deal.contact_ids] : deal.contact_ids;
		return {
			pipeline_id: pipelineId,
			stage_id: stageId,
			status,
			currency: deal.currency ?? (pipeline?.['currency'] as string | undefined) ?? null,
			contact_ids: [...new Set(contactIds)],
			stage_entered_at: stageId === previous?.stage_id ? previous.stage_entered_at : context.at,
			closed_at: isClosed ? closedAt(status, previous, context.at) : null,
		};
	},

	check(deal, _previous, { find }) {
		if (deal.pipeline_id === null) {
			const detail = 'There is no pipeline yet. Create one first.';
			return [{ pointer: '/pipeline_id', code: 'required', detail }];
		}
		const stages = stagesOf(find('pipelines', deal.pipeline_id));
		if (stages.some(({ id }) => id === deal.stage_id)) return [];
		const stageList = stages.map(({ id, name }) => `${name} (${id})`).join(', ');
		const detail = `The pipeline ${deal.pipeline_id} has no such stage. Use one of its stages: ${stageList}.`;
		return [{ pointer: '/stage_id', code: 'reference_not_found', detail }];
	},

	events: dealEvents,

	actions: dealActions,
});

const closedAt = (status: string, previous: Deal | undefined, now: string) =>
	previous?.status === status ? previous.closed_at : now;

const defaultPipeline = ({ findBy }: RuleContext) => findBy('pipelines', 'is_default', true)[0];
