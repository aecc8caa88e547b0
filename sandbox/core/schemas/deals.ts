import { z } from 'zod/v4';
import { dealActions, lostReason, dealEvents } from './deal-rules.ts';
import {
	calendarDate,
	choice,
	currency,
	instant,
	number,
	optional,
	plainText,
	pointInTime,
	reference,
	references,
} from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, type RuleContext } from './resource.ts';
import { stageKinds, stagesOf } from './stages.ts';

export const deals = defineResource({
	name: 'deals',
	object: 'deal',
	idPrefix: 'dea',
	description: 'Sales opportunities in a pipeline.',
	visibility: { owner: 'owner_id' },
	fields: {
		title: plainText().min(1).max(255).meta({
			title: 'Title',
			description: 'Name of the deal.',
			examples: ['Fleet telematics for Altamira Logistics'],
		}),
		pipeline_id: reference('pipelines', {
			title: 'Pipeline',
			description: 'The pipeline of the deal; by default, the default pipeline.',
			examples: [exampleId('pip')],
		}),
		stage_id: optional(z.string().min(1).max(64), {
			title: 'Stage',
			description: 'A stage of the pipeline; by default, its first open one.',
			'x-item-of': 'pipelines.stages',
		}),
		status: z.enum(stageKinds).meta({
			title: 'Status',
			description: 'The kind of the stage: open, won or lost.',
			examples: ['open'],
			readOnly: true,
		}),
		amount: number({ title: 'Amount', description: 'Value of the deal, in its currency.', examples: [24500] }),
		currency: currency({
			title: 'Currency',
			description: 'Three-letter currency code; by default, that of the pipeline.',
			examples: ['EUR'],
		}),
		probability: optional(z.number().min(0).max(100), {
			title: 'Probability',
			description: 'Probability in percent that the deal is won; by default, that of the stage.',
			examples: [60],
		}),
		expected_close_date: optional(calendarDate, {
			title: 'Expected Close Date',
			description: 'Date a decision is expected.',
			examples: ['2025-09-30'],
		}),
		company_id: reference('companies', {
			title: 'Company',
			description: 'The company the deal is with.',
			examples: [exampleId('com')],
		}),
		contact_id: reference('contacts', {
			title: 'Contact',
			description: 'The main contact.',
			examples: [exampleId('con')],
		}),
		contact_ids: references('contacts', {
			title: 'Contacts',
			description: 'Everyone involved, including the main contact.',
			examples: [[exampleId('con')]],
		}),
		lost_reason: lostReason,
		source: choice(
			['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'other'],
			{ title: 'Source', description: 'Source of the deal.', examples: ['referral'] },
		),
		stage_entered_at: pointInTime.meta({
			title: 'Stage Entered At',
			description: 'Time the deal entered its stage.',
			examples: ['2025-03-01T09:30:00.000Z'],
			readOnly: true,
		}),
		closed_at: instant({ title: 'Closed At', description: 'Time the deal was won or lost.', readOnly: true }),
		...sharedFields,
		...systemFields('deal'),
	},
	important: [
		'title',
		'pipeline_id',
		'stage_id',
		'status',
		'amount',
		'expected_close_date',
		'company_id',
		'contact_id',
		'owner_id',
	],
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

const closedAt = (
	status: string,
	previous: { status: string; closed_at: string | null } | undefined,
	now: string,
) => (previous?.status === status ? previous.closed_at : now);

const defaultPipeline = ({ findBy }: RuleContext) => findBy('pipelines', 'is_default', true)[0];
