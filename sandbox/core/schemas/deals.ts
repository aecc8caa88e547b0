import { type Deal, dealFields } from './deal-fields.ts';
import { dealActions, dealEvents } from './deal-rules.ts';
import { defineResource, type RuleContext } from './resource.ts';
import { stagesOf } from './stages.ts';

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
