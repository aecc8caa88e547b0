import { everydayType } from '../operations/recordOperations';
import { namedUpdate, recordAction } from '../operations/writeRecord';

export const deal = everydayType({ name: 'Deal', value: 'deal', path: '/deals' }, [
	recordAction('Lose deal', 'lose', {
		name: 'Lose',
		value: 'lose',
		description: 'Close a deal as lost, with the reason',
		leavesTheCrm: false,
		sets: { status: 'lost' },
		takesValues: true,
	}),
	namedUpdate('Move deal to stage', {
		name: 'Move to Stage',
		value: 'moveToStage',
		description: 'Move a deal to another stage, in its own or another pipeline',
		leavesTheCrm: false,
		only: [],
		picked: [
			{
				field: 'pipeline_id',
				name: 'pipelineId',
				displayName: 'Pipeline',
				method: 'searchPipelines',
				isOptional: true,
				description: 'Narrows the list of stages',
			},
			{
				field: 'stage_id',
				name: 'stageId',
				displayName: 'Stage',
				method: 'searchStages',
			},
		],
	}),
	recordAction('Reopen deal', 'reopen', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		sets: { status: 'open' },
	}),
	recordAction('Win deal', 'win', {
		name: 'Win',
		value: 'win',
		description: 'Close a deal as won',
		leavesTheCrm: false,
		sets: { status: 'won' },
	}),
]);
