pub(super) fn run(
    _: &mut crate::workload::Bench<'_>,
    _: &super::Options,
) -> crate::error::Result<()> {
    Ok(())
}
