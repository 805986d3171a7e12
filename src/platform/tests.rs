use super::*;
use rstest::rstest;

#[rstest]
#[case::kernel_name("x86_64", "amd64")]
#[case::dash("x86-64", "amd64")]
#[case::windows_name("x64", "amd64")]
#[case::upper_case("AMD64", "amd64")]
#[case::kernel_arm("aarch64", "arm64")]
#[case::old_arm("armv8", "arm64")]
#[case::variant_in_the_name("arm64/v8", "arm64")]
#[case::i386("i386", "386")]
#[case::i486("i486", "386")]
#[case::i586("i586", "386")]
#[case::i686("i686", "386")]
#[case::x86("x86", "386")]
#[case::hard_float("armhf", "arm")]
#[case::soft_float("armel", "arm")]
#[case::armv5("armv5te", "arm")]
#[case::armv6("armv6l", "arm")]
#[case::armv7("armv7l", "arm")]
#[case::arm_with_variant("arm/v7", "arm")]
#[case::power("ppc64el", "ppc64le")]
#[case::docker_arm("arm32v7", "arm")]
#[case::docker_arm64("arm64v8", "arm64")]
#[case::armv8_in_32_bits("armv8l", "arm")]
#[case::debian_mips("mips64el", "mips64le")]
#[case::kernel_loong("loongarch64", "loong64")]
#[case::wasm32("wasm32", "wasm")]
#[case::riscv("riscv64", "riscv64")]
#[case::loong("loong64", "loong64")]
#[case::mips("mips64le", "mips64le")]
#[case::z("s390x", "s390x")]
fn an_architecture_is_normalised(#[case] name: &str, #[case] expected: &str) {
    assert_eq!(Architecture::parse(name).unwrap().as_str(), expected);
}

#[rstest]
#[case::empty("")]
#[case::unknown("unknown")]
#[case::unknown_in_upper_case("Unknown")]
#[case::space("amd 64")]
#[case::not_ascii("ämd64")]
#[case::only_a_variant("/v7")]
#[case::a_platform("linux/amd64")]
#[case::no_variant_after_the_slash("arm64/")]
#[case::misspelt("amr64")]
#[case::no_architecture("noarch")]
fn what_no_table_knows_is_no_architecture(#[case] name: &str) {
    assert_eq!(Architecture::parse(name), None);
}

#[rstest]
#[case::plain("linux/amd64", Some("linux/amd64"))]
#[case::variant("Linux/ARM/V7", Some("linux/arm/v7"))]
#[case::windows("windows/amd64", Some("windows/amd64"))]
#[case::no_architecture("linux", None)]
#[case::empty_variant("linux/arm/", None)]
#[case::any_os("any/amd64", None)]
#[case::odd_variant("linux/arm/v7 beta", None)]
#[case::four_parts("linux/arm/v7/x", None)]
#[case::no_os("/amd64", None)]
fn a_platform_is_read_from_its_notation(#[case] text: &str, #[case] expected: Option<&str>) {
    assert_eq!(
        Platform::parse(text).map(|platform| platform.to_string()),
        expected.map(str::to_owned)
    );
}

#[test]
fn architectures_are_numbered_in_the_order_of_their_names() {
    let mut sorted: Vec<&str> = Architecture::names().collect();
    sorted.sort_unstable();
    assert_eq!(Architecture::names().collect::<Vec<_>>(), sorted);
    assert_eq!(
        Architecture::names().count(),
        usize::from(Architecture::COUNT)
    );
    assert_eq!(Os::names().count(), usize::from(Os::COUNT));
    assert_eq!(Os::LINUX.as_str(), "linux");
    for name in Architecture::names() {
        assert_eq!(Architecture::of_label(name).unwrap().as_str(), name);
        assert_eq!(Architecture::parse(name).unwrap().as_str(), name);
    }
}

#[test]
fn sets_of_values_know_that_there_are_others() {
    let all = Architectures::all();
    let two = Architectures::of_labels(["amd64", "arm64"].into_iter());
    let odd = Architectures::of_labels(["amd64", "foo"].into_iter());
    assert!(two.is_within(all) && !all.is_within(two) && !odd.is_within(two));
    assert!(odd.and(two).is_within(two));
    assert_eq!(
        two.iter().map(Architecture::as_str).collect::<Vec<_>>(),
        ["amd64", "arm64"]
    );
    assert_eq!(
        two.minus(odd)
            .iter()
            .map(Architecture::as_str)
            .collect::<Vec<_>>(),
        ["arm64"]
    );
    assert!(
        !two.complement()
            .contains(Architecture::parse("amd64").unwrap())
    );
    assert!(
        two.complement()
            .contains(Architecture::parse("arm").unwrap())
    );
    assert!(!all.is_within(two.or(two.minus(odd))));
}
